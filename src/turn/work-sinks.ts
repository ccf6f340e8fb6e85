/** What a turn's workflow tells the worker that it runs on. */
export type WorkSinks = {
  readonly work: {
    /** @param activityId of an activity that is cancelled, unique in the run and counted up */
    cancelled(activityId: number): void;
  };
};
