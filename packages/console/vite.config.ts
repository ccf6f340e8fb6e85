import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  // Inlined files would be data: addresses, which the pages' content security policy refuses.
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  // The server refuses a page of another origin: requests keep the name that the browser knows.
  server: { proxy: { '^/(v1|login)': { target: process.env['HOLDFAST_SERVER'] ?? 'http://127.0.0.1:7070' } } },
});
