import type { CompactionForm } from './plan.ts';

export type SummaryForm = Extract<CompactionForm, 'summary' | 'shorter_summary' | 'extractive_summary'>;

/** However little room there is, a summary may take this. Tokens. */
export const SMALLEST_SUMMARY = 200;
/**
 * A shorter summary is asked for with half the answer, from requests of half the size: what a provider refused as too long,
 * because the estimate was too low for its text, must not be sent again.
 */
export const SHORTER_SHARE = 0.5;
