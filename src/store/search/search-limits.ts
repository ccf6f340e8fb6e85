/** What bounds a search; for tests, which cannot have ten thousand conversations. */
export interface SearchLimits {
  /** Blocks of an agent that are searched for any word, and of a time that is asked for: the newest. Default: 10,000. */
  readonly mostBlocks?: number;
  /** Passages that a word may have to be searched in older blocks, too. Default: 14,000. */
  readonly mostOfWord?: number;
  /** Rows of postings of an agent that one search reads. Default: 8,000. */
  readonly mostRows?: number;
}
