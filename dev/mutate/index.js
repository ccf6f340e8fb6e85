// `node dev/mutate`: what a clone runs from its TypeScript sources.
import { register } from 'tsx/esm/api';

register();
await import('./main.ts');
