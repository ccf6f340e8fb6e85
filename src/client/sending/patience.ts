/** Milliseconds that a caller waits for Temporal, which it can do without. */
export const TEMPORAL_PATIENCE_MILLISECONDS = 2_000;

/** What the work comes to within 2 s, or else the other result; the work goes on. */
export async function withPatience<Result>(work: Promise<Result>, otherwise: Result): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<Result>((resolve) => {
    timer = setTimeout(resolve, TEMPORAL_PATIENCE_MILLISECONDS, otherwise);
  });
  try {
    return await Promise.race([work, patience]);
  } finally {
    clearTimeout(timer);
  }
}
