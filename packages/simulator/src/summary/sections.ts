/** A section that a summary must have, as the prompt names it. */
export interface Section {
  /** The heading, exactly as it is to stand in the summary. */
  readonly heading: string;
  readonly title: string;
}

/** Tags around the material of a summary: not the prompt's own words. */
const MATERIAL_TAGS =
  'transcript|conversation|messages|history|previous[-_]summary|summary|part|parts|entries|originals|material|excerpt|new[-_]messages|agent_instructions|first_kept_message|focus';

/** The prompt without the material that it quotes; a tag's last closing counts, since material may hold anything. */
export function promptWithoutMaterial(text: string): string {
  return text.replace(new RegExp(`<(${MATERIAL_TAGS})(?: [^>]*)?>[\\s\\S]*</\\1>`, 'gi'), '');
}

/** The sections that the newest text of a request names, else those of its system prompt; at least two, or none. */
export function findSections(system: string, newestText: string): readonly Section[] {
  const inText = sectionsIn(promptWithoutMaterial(newestText));
  if (inText.length >= 2) return inText;
  const inSystem = sectionsIn(system);
  return inSystem.length >= 2 ? inSystem : [];
}

const FORMS: readonly RegExp[] = [
  /^[ \t]*(#{1,4} +[^\n#][^\n]*?)[ \t]*$/gm,
  /^[ \t]*(?:[-*] )?([A-Z][A-Z &/'-]{2,40}:)/gm,
  /^[ \t]*(?:\d{1,2}[.)] )\**([A-Z][^:*\n]{2,60}?)\**:/gm,
  /`(#{1,4} [^`\n]+)`/g,
];

function sectionsIn(prompt: string): readonly Section[] {
  for (const form of FORMS) {
    const headings = [...new Set([...prompt.matchAll(form)].map((match) => match[1] ?? ''))];
    if (headings.length >= 2) return headings.map((heading) => ({ heading, title: titleOf(heading) }));
  }
  return [];
}

function titleOf(heading: string): string {
  return heading.replace(/^#+ */, '').replace(/:$/, '').trim();
}

/** What a section is about, by the words of its title. */
export type Subject =
  | 'requests'
  | 'completed'
  | 'open'
  | 'state'
  | 'decisions'
  | 'problems'
  | 'files'
  | 'facts'
  | 'other';

const SUBJECTS: readonly (readonly [Subject, RegExp])[] = [
  ['state', /\b(in progress|current|state|working)\b/i],
  ['requests', /\b(request|task|goal|objective|intent|user message)/i],
  ['open', /\b(open|remaining|pending|next|to-?do|outstanding|left)\b/i],
  ['completed', /\b(completed|done|progress|ledger|accomplished|finished)\b/i],
  ['decisions', /\b(decision|constraint|preference|choice)/i],
  ['problems', /\b(error|blocked|problem|issue|failure|fix)/i],
  ['files', /\b(file|code section)/i],
  ['facts', /\b(data|fact|finding|critical|key|value|knowledge|context|concept|detail)/i],
];

export function subjectOf(section: Section): Subject {
  return SUBJECTS.find(([, pattern]) => pattern.test(section.title))?.[0] ?? 'other';
}
