/** A number of tokens: absolute (shrinks in proportion below windows of 100,000), a fraction of something, or the smaller of both. */
export interface TokenAmount {
  /** Tokens. Shrinks in proportion for windows below 100,000 unless `exact`. */
  readonly tokens?: number;
  /** Fraction (0 to 1) of `of`. */
  readonly fraction?: number;
  /** `free`: what a pass leaves free, the input budget less the target. Default: `input_budget`. */
  readonly of?: 'window' | 'input_budget' | 'output_reserve' | 'free';
  /** Set by the user: `tokens` is taken as it is, whatever the window. Default: false. */
  readonly exact?: boolean;
}

/** Tokens kept free for the answer. */
export interface OutputReserve extends TokenAmount {
  /** No more than the model's maximum output, if it is known. Default: false. */
  readonly upToMaximumOutput?: boolean;
  /** A model whose input is capped below its window needs no reserve: what is over the cap is free anyway. Default: false. */
  readonly yieldsToMaximumInput?: boolean;
}
