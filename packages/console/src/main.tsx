import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { RouterProvider } from '@tanstack/react-router';
import { readAgainAfter } from './api/problem.ts';
import { router } from './router.tsx';

// Also without a network: the server may be on this machine.
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: false,
      refetchInterval: ({ state }) => readAgainAfter(state.error),
      refetchOnWindowFocus: false,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});
const root = document.querySelector('#root');
if (root !== null) {
  createRoot(root).render(
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>,
  );
}
