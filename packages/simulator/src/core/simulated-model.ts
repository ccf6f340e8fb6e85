/** A model that the simulator plays. */
export interface SimulatedModel {
  readonly id: string;
  /** Tokens that the model accepts in all. */
  readonly window: number;
  /** Tokens of the longest answer. */
  readonly maximumOutput: number;
  /** Whether each answer begins with thinking. */
  readonly thinks: boolean;
}

/** Windows that `/v1/models` lists; any other `sim-<N>k` works as well. */
const LISTED_MODELS = ['sim-8k', 'sim-32k', 'sim-128k', 'sim-200k', 'sim-1000k'];

const MODEL_NAME = /^sim-(\d{1,5})k(?:-[a-z0-9][a-z0-9.-]*)?$/;

/**
 * The model behind a name: `sim-<N>k` has a window of N × 1,024 tokens and answers of at most
 * min(8,192, a quarter of the window). A suffix (`sim-32k-small`) makes another model of the same size,
 * with a prefix cache of its own; one that names `thinking` (`sim-32k-thinking`) thinks before it answers, and the answers
 * of one that names `verbose` may fill a quarter of the window. `undefined` for every other name.
 */
export function findModel(id: string): SimulatedModel | undefined {
  const digits = MODEL_NAME.exec(id)?.[1];
  const thousands = Number(digits);
  if (digits === undefined || thousands < 1) return undefined;
  const window = thousands * 1024;
  const maximumOutput = /-verbose\b/.test(id) ? window / 4 : Math.min(8192, window / 4);
  return { id, window, maximumOutput, thinks: /-thinking\b/.test(id) };
}

export function listModels(): readonly SimulatedModel[] {
  return LISTED_MODELS.flatMap((id) => findModel(id) ?? []);
}
