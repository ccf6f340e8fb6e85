/**
 * Forms of English words that no stemmer brings together: "met" is how "meet" is told. Verbs whose past is spelled otherwise,
 * and plurals; each line of forms is one word. Forms that are stop words, or mostly another word ("saw", "left" as a side is
 * rare enough), stand with the verb that they are told with.
 */
const IRREGULAR = `
arise arose arisen|awake awoke awoken|bear bore borne|beat beaten|become became|begin began begun|bend bent|bet|bind bound|bite bit bitten|
bleed bled|blow blew blown|break broke broken|breed bred|bring brought|build built|burn burnt|buy bought|catch caught|choose chose chosen|
cling clung|come came|creep crept|deal dealt|dig dug|draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|eat ate eaten|
fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled|fly flew flown|forbid forbade forbidden|forget forgot forgotten|
forgive forgave forgiven|freeze froze frozen|get got gotten|give gave given|go went gone|grow grew grown|hang hung|hear heard|hide hid hidden|
hold held|keep kept|kneel knelt|know knew known|lay laid|lead led|lean leant|leap leapt|learn learnt|leave left|lend lent|light lit|lose lost|
make made|mean meant|meet met|mistake mistook mistaken|pay paid|prove proven|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|
see saw seen|seek sought|sell sold|send sent|sew sewn|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk|sing sang sung|
sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken|speed sped|spell spelt|spend spent|spill spilt|spin spun|spring sprang sprung|
stand stood|steal stole stolen|stick stuck|sting stung|strike struck|swear swore sworn|sweep swept|swim swam swum|swing swung|take took taken|
teach taught|tear tore torn|tell told|think thought|throw threw thrown|understand understood|undertake undertook undertaken|wake woke woken|
wear wore worn|weave wove woven|weep wept|win won|withdraw withdrew withdrawn|write wrote written|
child children|person people|man men|woman women|foot feet|tooth teeth|mouse mice|goose geese|wife wives|life lives|knife knives|leaf leaves|
half halves|shelf shelves|wolf wolves|thief thieves|good better best|bad worse worst`;

const FORMS = new Map<string, readonly string[]>();
for (const line of IRREGULAR.replaceAll('\n', '').split('|')) {
  const forms = line.trim().split(' ');
  for (const form of forms) FORMS.set(form, [...(FORMS.get(form) ?? []), ...forms.filter((other) => other !== form)]);
}
/** "goes" and "meeting" are asked for as often as "go" and "meet". */
const ENDINGS = /(?:(?<doubled>[bdgmnprt])\k<doubled>)?(?:ing|es|s)$/u;

/** Other forms of an English word, in lower case; none for most words. */
export function irregularFormsOf(word: string): readonly string[] {
  const known = FORMS.get(word);
  if (known !== undefined) return known;
  const base = baseOf(word);
  return base === undefined ? [] : [base, ...(FORMS.get(base) ?? [])];
}

function baseOf(word: string): string | undefined {
  const found = ENDINGS.exec(word);
  if (found === null || found.index === 0) return undefined;
  const stem = word.slice(0, found.index) + (found.groups?.['doubled'] ?? '');
  return [stem, `${stem}e`].find((base) => FORMS.has(base));
}
