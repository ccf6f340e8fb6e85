/** Texts of a policy: they are data as its numbers are, and versioned where a model reads them. */

/** A text that is given to the summarizing model; the version is stored with each summary. */
export interface Prompt {
  readonly name: string;
  /** Raised with every change of the text. */
  readonly version: number;
  readonly text: string;
}

/** Placeholders in the texts: `{{sections}}` becomes the list of headings with their instructions. */
export interface SummaryPrompts {
  readonly system: Prompt;
  /** Asks for the summary of a stretch of the conversation, updating an earlier one if there is one. */
  readonly history: Prompt;
  /** Asks for the same when there is an earlier summary; `null`: `history` asks for both. */
  readonly update: Prompt | null;
  /** Asks for the summary of the beginning of a turn whose end stays visible. */
  readonly turnPrefix: Prompt;
  /** Asks for one summary out of those of all parts. */
  readonly merge: Prompt;
}

/** The words around a summary in the view, kept with each summary. */
export interface SummaryFraming {
  readonly opening: string;
  readonly closing: string;
}

/** Notes that tell the model to go on, by what the pass left. */
export interface ContinuationPrompts {
  readonly afterSummary: Prompt;
  /** The summary was written without a model. */
  readonly afterExtract: Prompt;
  /** The pass wrote no summary. */
  readonly withoutSummary: Prompt;
}

/**
 * Texts in the place of what is not shown, with `{{original}}`, `{{omitted}}`, `{{head}}` and `{{tail}}`
 * for counts of characters and `{{tool}}` for a tool's name; the way back to the original follows each.
 */
export interface PlaceholderTexts {
  readonly clip?: string;
  /** Prepended once to a content whose images are gone. */
  readonly strip?: string;
}
