/** Something that must hold and does not. */
export interface Violation {
  /** Stable name. */
  readonly name: string;
  readonly found: string;
}
