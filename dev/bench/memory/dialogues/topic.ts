/** Texts to choose from. */
export type Choice = readonly [string, ...string[]];

/**
 * What two friends tell each other. `{name}` is who says it, `{other}` who listens; other braces are drawn from `slots`, and `key`
 * names the slot that tells one telling from another of the same topic. Questions say it in other words, most of them with
 * a word or two in common.
 */
export interface Topic {
  readonly says: Choice;
  /** What the other asks before, about half of the time; then the answer may say less. */
  readonly asks: Choice;
  readonly answers: Choice;
  readonly questions: Choice;
  /** Replies that repeat what was said: they have the words, and are not the answer. */
  readonly replies: Choice;
  readonly slots: Readonly<Record<string, Choice>>;
  readonly key: string;
}

/** How the time of something is told: relative to the talk. */
export const WHEN: Choice = [
  'yesterday',
  'last week',
  'last Friday',
  'two days ago',
  'last weekend',
  'last month',
  'on Monday',
];
