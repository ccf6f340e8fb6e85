/** Everything that Temporal replays: the entry of the workflow bundle. */
export { agentTurn } from './agent-turn.ts';
