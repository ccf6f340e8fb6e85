/**
 * A compaction policy: data that the pipeline `trigger → select → reduce → summarize → inject`
 * reads. A preset is one value of this type; nothing in the pipeline knows a preset's name.
 */

import type { ContinuationPrompts, PlaceholderTexts, Prompt, SummaryFraming, SummaryPrompts } from './policy-texts.ts';
import type { OutputReserve, TokenAmount } from './token-amount.ts';

export type { OutputReserve, TokenAmount } from './token-amount.ts';
export type { ContinuationPrompts, PlaceholderTexts, Prompt, SummaryFraming, SummaryPrompts } from './policy-texts.ts';

/** A fixed ratio of characters to tokens, with which a policy counts for its own numbers. */
export interface CharacterCounting {
  /** Above 0. */
  readonly charactersPerToken: number;
  /** Characters that an image counts as; `null`: a token for each 28 × 28 pixels. */
  readonly imageCharacters: number | null;
  /**
   * The provider's count of the newest call. `ignored`: only the ratio counts; `plus_estimate`: the count and its answer, and
   * by the ratio what came after them; `alone`: the count and its answer; `higher`: `plus_estimate` or the ratio of
   * everything, whichever is higher.
   */
  readonly reported: 'ignored' | 'plus_estimate' | 'alone' | 'higher';
  /** Before the provider has counted anything since the newest compaction: the ratio of everything, or no number at all. */
  readonly unreported: 'estimate' | 'wait';
}

export type Reducer =
  /** Replaces images by a marker, except in the newest `keepNewest` images and in images that no request has carried yet. */
  | { readonly kind: 'strip_images'; readonly keepNewest: number }
  /** Shortens every tool result beyond a limit, whatever the pass still has to win; also within a pass that drops entries. */
  | {
      readonly kind: 'cap_tool_results';
      /** Longest result that stays as it is. */
      readonly limit: TokenAmount;
      /** The same for results of `documentTools`. */
      readonly documentLimit: TokenAmount;
      /** Tools that read documents. */
      readonly documentTools: readonly string[];
      /** Of a result that is a JSON array, this many first items stay. */
      readonly arrayItems: number;
    }
  /** Replaces old tool results by a placeholder. */
  | {
      readonly kind: 'clear_tool_results';
      /** Newest tool output that stays. */
      readonly protect: TokenAmount;
      /** Nothing is cleared unless this much is won. */
      readonly minimum: TokenAmount;
      /** Tools whose results stay. */
      readonly protectedTools: readonly string[];
      /** Results after the user message that began this many newest turns stay. */
      readonly protectTurns: number;
      /** What stands for a result; `null`: a line that names it and says how to get it back. */
      readonly placeholder: string | null;
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
      /** The first user message stays. Default: false. */
      readonly protectFirstUserMessage?: boolean;
      /** Contents that no request has carried yet may be clipped, because the summary covers their originals. Default: false. */
      readonly unseen?: boolean;
      /**
       * Fraction of a content that is expected to stay. Candidates are then chosen until the savings expected by it
       * reach the goal. Default: the savings are computed from head and tail.
       */
      readonly expectedRetention?: number;
    };

export type ClippedKind = 'tool_result' | 'assistant' | 'user';

/** What a section is for, so that the extractive summary can fill it without a model. */
export type SectionSubject = 'requests' | 'progress' | 'findings' | 'open' | 'decisions' | 'files' | 'state';

export interface SummarySection {
  readonly title: string;
  /** What the section must hold, told to the summarizing model. */
  readonly instruction: string;
  readonly subject: SectionSubject;
  /** Filled by the program with the exact words of every user message; the model is not asked for it. Default: false. */
  readonly quotesUserMessages?: boolean;
  /** Shown unfolded where summaries are listed. Default: false. */
  readonly open?: boolean;
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
  /** The whole transcript of one request, with the frames around its texts. */
  readonly total: number | null;
  /** Fraction of a shortened text that its head keeps; its tail keeps the rest. */
  readonly headShare: number;
}

/** Where a summary stands in the view: before everything else, after the first user message, or behind all that existed when it was made. */
export type SummaryPlacement = 'first' | 'after_first_message' | 'end';

/** A small durable summary in memory before anything is taken out of a view that is all but full. */
export interface FlushPolicy {
  /** Only when less than this is left of the window. */
  readonly slack: TokenAmount;
  /** Not again within this many milliseconds. */
  readonly cooldown: number;
  /** Not again before the view grew by this many tokens. */
  readonly minimumGrowth: number;
  /** Only from this many messages on. */
  readonly minimumMessages: number;
  /** Longest answer, tokens. */
  readonly maximumOutput: number;
  readonly prompt: Prompt;
  readonly sections: readonly SummarySection[];
}

/** What each request shows of results that say nothing new. Decided when the request is made: no pass, nothing stored. */
export interface RequestStubs {
  /** Of results that are equal byte for byte and at least this long, only the first is shown. Characters. */
  readonly equalCharacters: number;
  /** Tools that read pages: a read gives way to a newer one with the same arguments. */
  readonly pageTools: readonly string[];
  /** Images of older results give way to those of a newer one. */
  readonly newestImagesOnly: boolean;
}

export interface CompactionPolicy {
  readonly name: string;
  /** `false`: never compacts by itself; a reported overflow ends the turn as `context_exhausted`. */
  readonly enabled: boolean;
  /** Context window to count with, tokens, taken as it is; `null`: the model's. 0 switches off like `enabled: false`. */
  readonly window: number | null;
  /**
   * What is held against `trigger`, and what `target`, `keep.tail` and a reducer's `protect` count in. Whatever is set here, a
   * pass also starts when the calibrated estimate is over the input budget.
   */
  readonly counting: 'calibrated' | CharacterCounting;
  /** Whether the check is made once more after the last step of a turn, besides before each call. */
  readonly checkAfterLastStep: boolean;
  /** `true`: `reduce` is applied after the last step of each turn, however full the window is, and not by passes. */
  readonly reduceAfterTurn: boolean;
  /** When a pass starts. */
  readonly trigger: TokenAmount;
  /** What a pass aims for; `null`: below the trigger is enough. */
  readonly target: TokenAmount | null;
  /** Tokens kept free for the answer; `null`: min(model's maximum output, 16,384, 20 % of the window). */
  readonly outputReserve: OutputReserve | null;
  readonly keep: {
    /** Newest entries that stay as they are. */
    readonly tail: TokenAmount;
    /** Older user messages that stay verbatim: the newest, up to the first that does not fit; longer ones than half of it are passed over. */
    readonly userMessages: TokenAmount;
    /** Whether a cut may fall inside a turn. A single turn that is larger than the tail is always split. */
    readonly splitTurns: boolean;
    /** Whether the entry with which the tail becomes larger than its budget still belongs to it. */
    readonly tailReaches: 'at_most' | 'at_least';
    /** The cut comes after everything, at a marker of its own; only a user message without an answer stays. */
    readonly pivot: boolean;
    /** Fewer messages of user, assistant and tools in the view are never summarized. */
    readonly minimumMessages: number;
    /** The first user message stays word for word, before everything else. Default: false. */
    readonly firstUserMessage?: boolean;
    /** Older groups that name files of the newest messages. Default: none. */
    readonly activeFiles?: {
      readonly amount: TokenAmount;
      /** How many of the newest messages make a file active. */
      readonly messages: number;
    };
  };
  /** Tried in this order. */
  readonly reduce: readonly Reducer[];
  readonly summary: {
    /** `if_needed`: only if reducing does not reach the target, or would hide more than `hiddenMaximum`. */
    readonly when: 'if_needed' | 'always' | 'never';
    /**
     * How much of the originals reducers may hide before a summary covers them. Beyond it a summary is written even if
     * reducing reaches the target: what was found would otherwise be in the log only, to be looked up item by item. Asked only
     * where a summary is written `if_needed`; nothing when absent.
     */
    readonly hiddenMaximum?: TokenAmount;
    readonly prompts: SummaryPrompts;
    readonly sections: readonly SummarySection[];
    /** Of the beginning of a split turn that gets a text of its own; `null`: `sections`. */
    readonly turnPrefixSections: readonly SummarySection[] | null;
    /**
     * The beginning of a split turn: `together` with the history when both fit into one request, which is one call and
     * one text; `separate`: always a part of its own, in parallel, whose text stands after that of the history.
     */
    readonly splitTurn: 'together' | 'separate';
    /** Longest summary. */
    readonly maximumOutput: TokenAmount;
    /** Longest text for the beginning of a split turn that is `separate`; `null`: `maximumOutput`. */
    readonly turnPrefixOutput: TokenAmount | null;
    /** Fraction of `maximumOutput` that the model does not get, for what the must-keep check appends. */
    readonly appendedShare: number;
    /** Tools whose calls make the lists of files below a summary; `null`: no lists. */
    readonly fileLists: { readonly read: readonly string[]; readonly modified: readonly string[] } | null;
    /**
     * What the list of the newest results that the summary stands for may take: call, size and, with recall, the id by which
     * it is opened. Not written where results stay in the view, shortened. Default: min(2,000 tokens, 2 % of the input budget).
     */
    readonly results?: TokenAmount;
    /** Asked before the summary, which then stands as the assistant's answer to it; `null`: the summary is a user message. */
    readonly question: string | null;
    readonly transcript: TranscriptLimits;
    /**
     * Asked behind the request of the last model call instead of with a transcript, when the agent's own model summarizes and
     * everything fits its window: the provider reads most of it from its cache. Default: never.
     */
    readonly sharesPrefix?: Prompt;
    /** Least room for a summary, however small the window; tokens, taken as it is. Default: none. */
    readonly minimumOutput?: number;
    /**
     * What the summary stands for: what a cut drops, or the originals of what the reducers shorten in place, without a
     * cut. Default: `dropped`.
     */
    readonly of?: 'dropped' | 'shortened';
    /** Default: `first`. */
    readonly placement?: SummaryPlacement;
    /** Default: words that tell what a summary is. */
    readonly framing?: SummaryFraming;
    /** Opening in place of `framing.opening` when no model wrote the summary. Default: the same. */
    readonly extractOpening?: string;
    /** `labels`: `TASK: …`, as plain text. Default: `markdown`. */
    readonly headings?: 'markdown' | 'labels';
    /** Shorter instructions of the same sections, for answers below `belowTokens`. Default: none. */
    readonly condensed?: { readonly belowTokens: number; readonly sections: readonly SummarySection[] };
    /** What the quoted user messages may take; the newest are kept longest. Needs a section that quotes them. */
    readonly quotedMessages?: TokenAmount;
    /** A finished summary is shortened step by step until the view is at most this. Default: never. */
    readonly overflowGuard?: TokenAmount;
    /** Each summary becomes a memory of the workspace, and an entry of a daily log if the folder exists there. Default: no. */
    readonly memory?: { readonly dailyLogFolder: string };
    /** Default: none. */
    readonly flush?: FlushPolicy;
    /** Model that summarizes, as `provider/model`; `null`: the agent's. */
    readonly model: string | null;
  };
  /** Whether a note tells the model to go on after a pass: `automatic` after every one that nobody asked for. Never once the turn is over (R15). */
  readonly continuation: 'inside_turn' | 'automatic' | 'always' | 'never';
  /** Text of that note; `null`: one that also says how to look things up. */
  readonly continuationText: string | null;
  /** Words of that note. Default: the pipeline's own. */
  readonly continuationPrompts?: ContinuationPrompts;
  /** How long a pass counts: until the conversation ends, or until its turn does. Default: `conversation`. */
  readonly lasts?: 'conversation' | 'turn';
  /** Tool calls of one answer run one after another. Default: false. */
  readonly toolsOneByOne?: boolean;
  /** Each request ends with counters of the turn and this advice, behind the cache mark. Default: none. */
  readonly runtimeNote?: Prompt;
  /** Default: `null`, every result is shown as the operations in force leave it. */
  readonly requestStubs?: RequestStubs | null;
  /** The system prompt is made of named blocks. Default: false. */
  readonly namedBlocks?: boolean;
  /** Words that stand for what is clipped, cleared or stripped. Default: the pipeline's own. */
  readonly placeholders?: PlaceholderTexts;
  /** Output reserves by model name, or the beginning of one after the provider. Default: none. */
  readonly outputReserves?: Readonly<Record<string, number>>;
  /** A pass that frees less than this fraction of the window counts as failed (R5). */
  readonly minimumGain: number;
  /**
   * A forced pass aims for this fraction of the policy's target, because the estimate has just been proven too low; the second
   * of a turn for its square (R2: 50 %, then 35 %).
   */
  readonly forcedTargetFactor: number;
  /** Forced passes after overflows that the provider reported, in one turn and for one model: 1 to 3. Each aims lower. Default: 1. */
  readonly overflowRecoveries?: number;
}
