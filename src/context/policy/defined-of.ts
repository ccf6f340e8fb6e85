type Defined<Options> = { [Key in keyof Options]?: Exclude<Options[Key], undefined> };

/** An object without the keys whose value is `undefined`, for spreading over defaults. */
export function definedOf<Options extends object>(options: Options): Defined<Options>;
export function definedOf(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
