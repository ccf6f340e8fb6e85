/** Numbers by key, of which only those are remembered that were set last. */
export class NewestValues {
  readonly #values = new Map<string, number>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): number | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: number): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    const [oldest] = this.#values.size > this.#most ? this.#values.keys() : [];
    if (oldest !== undefined) this.#values.delete(oldest);
  }
}
