/** A namespace of Temporal, as DescribeNamespace tells it. */
export interface TemporalNamespace {
  readonly name: string;
  /** A server that lost its data has another one under the same name. */
  readonly id: string;
}
