export { serveSimulator } from './main.ts';
export type { SimulatorOptions } from './options.ts';
export { startSimulator, type Simulator } from './server.ts';
