/**
 * A compaction policy: data that the pipeline `trigger → select → reduce → summarize → inject`
 * reads. A preset is one value of this type; nothing in the pipeline knows a preset's name.
 */

/** A number of tokens: absolute (shrinks in proportion below windows of 100,000), a fraction of something, or the smaller of both. */
export interface TokenAmount {
  /** Tokens. Shrinks in proportion for windows below 100,000 unless `exact`. */
  readonly tokens?: number;
  /** Fraction (0 to 1) of `of`. */
  readonly fraction?: number;
  /** Default: `input_budget`. */
  readonly of?: 'window' | 'input_budget';
  /** Set by the user: `tokens` is taken as it is, whatever the window. Default: false. */
  readonly exact?: boolean;
}

export type Reducer =
  /** Replaces images by a marker, except in the newest `keepNewest` images and in images that no request has carried yet. */
  | { readonly kind: 'strip_images'; readonly keepNewest: number }
  /** Replaces old tool results by a placeholder. */
  | {
      readonly kind: 'clear_tool_results';
      /** Newest tool output that stays. */
      readonly protect: TokenAmount;
      /** Nothing is cleared unless this much is won. */
      readonly minimum: TokenAmount;
      /** Tools whose results stay. */
      readonly protectedTools: readonly string[];
    }
  /** Keeps head and tail of large contents. */
  | {
      readonly kind: 'clip';
      /** What is clipped, in this order: tool results largest first, the others oldest first. */
      readonly of: readonly ClippedKind[];
      readonly headFraction: number;
      /** Characters. */
      readonly headLimit: number;
      readonly tailFraction: number;
      /** Characters. */
      readonly tailLimit: number;
      /** Contents shorter than this many characters stay. */
      readonly minimumCharacters: number;
      /** Per role, this many newest entries stay. */
      readonly protectNewest: number;
      /** Results of failed calls stay. */
      readonly protectErrors: boolean;
      /** Tools whose results stay. */
      readonly protectedTools: readonly string[];
    };

export type ClippedKind = 'tool_result' | 'assistant' | 'user';

/** What a section is for, so that the extractive summary can fill it without a model. */
export type SectionSubject = 'requests' | 'progress' | 'findings' | 'open' | 'decisions' | 'files' | 'state';

export interface SummarySection {
  readonly title: string;
  /** What the section must hold, told to the summarizing model. */
  readonly instruction: string;
  readonly subject: SectionSubject;
}

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
  /** Asks for the summary of the beginning of a turn whose end stays visible. */
  readonly turnPrefix: Prompt;
  /** Asks for one summary out of those of all parts. */
  readonly merge: Prompt;
}

/**
 * How much of each original a summarizing model reads, in characters; `null`: no limit. Whatever is set here, a request
 * never exceeds the model's window. Shortened texts lose their middle, older ones more than newer ones.
 */
export interface TranscriptLimits {
  readonly user: number | null;
  /** Text of an answer. */
  readonly assistant: number | null;
  readonly toolResult: number | null;
  /** Arguments of one tool call. */
  readonly toolInput: number | null;
  /** All texts of one request together. */
  readonly total: number | null;
  /** Fraction of a shortened text that its head keeps; its tail keeps the rest. */
  readonly headShare: number;
}

export interface CompactionPolicy {
  readonly name: string;
  /** `false`: never compacts by itself; a reported overflow ends the turn as `context_exhausted`. */
  readonly enabled: boolean;
  /** When a pass starts: the view's calibrated estimate is over this. */
  readonly trigger: TokenAmount;
  /** What a pass aims for; `null`: below the trigger is enough. */
  readonly target: TokenAmount | null;
  /** Tokens kept free for the answer; `null`: min(model's maximum output, 16,384, 20 % of the window). */
  readonly outputReserve: TokenAmount | null;
  readonly keep: {
    /** Newest entries that stay as they are. */
    readonly tail: TokenAmount;
    /** Older user messages that stay verbatim, newest first. */
    readonly userMessages: TokenAmount;
    /** Whether a cut may fall inside a turn. A single turn that is larger than the tail is always split. */
    readonly splitTurns: boolean;
  };
  /** Tried in this order. */
  readonly reduce: readonly Reducer[];
  readonly summary: {
    /** `if_needed`: only if reducing does not reach the target, or would hide more than `hiddenMaximum`. */
    readonly when: 'if_needed' | 'always' | 'never';
    /**
     * How much of the originals reducers may hide before a summary covers them. Beyond it a summary is written even if
     * reducing reaches the target: what was found would otherwise be in the log only, to be looked up item by item.
     */
    readonly hiddenMaximum: TokenAmount;
    readonly prompts: SummaryPrompts;
    readonly sections: readonly SummarySection[];
    /**
     * The beginning of a split turn: `together` with the history when both fit into one request, which is one call and
     * one text; `separate`: always a part of its own, in parallel.
     */
    readonly splitTurn: 'together' | 'separate';
    /** Longest summary. */
    readonly maximumOutput: TokenAmount;
    readonly transcript: TranscriptLimits;
    /** Model that summarizes, as `provider/model`; `null`: the agent's. */
    readonly model: string | null;
  };
  /** Whether a note tells the model to go on after a pass. */
  readonly continuation: 'inside_turn' | 'always' | 'never';
  /** A pass that frees less than this fraction of the window counts as failed (R5). */
  readonly minimumGain: number;
  /** Each forced pass aims for this fraction of the policy's target, because the estimate has just been proven too low. */
  readonly forcedTargetFactor: number;
}
