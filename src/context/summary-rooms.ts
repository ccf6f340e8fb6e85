import type { CompactionForm } from './plan.ts';

export type SummaryForm = Extract<CompactionForm, 'summary' | 'shorter_summary' | 'extractive_summary'>;

/** However little room there is, a summary may take this. Tokens. */
export const SMALLEST_SUMMARY = 200;
export const SHORTER_SHARE = 0.5;
