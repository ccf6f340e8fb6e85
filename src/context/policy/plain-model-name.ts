/**
 * The vendor's own name of a model that another server offers: without the folders of routers (`anthropic/claude-opus-4.6:beta`),
 * regions and vendors of Bedrock (`us.anthropic.claude-opus-4-6-20260101-v1:0`), dates of Vertex AI (`claude-opus-4-6@20260101`)
 * and days. Claude's versions are written with dashes.
 *
 * @param model without the provider
 */
export function plainModelName(model: string): string {
  const name = model
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/[:@].*$/, '')
    .replace(/^(?:us-gov|us|eu|apac|au|ca|in|jp|global)\./, '')
    .replace(/^(?:anthropic|openai|google|xai|zai|moonshotai|moonshot|deepseek|mistral|qwen|amazon|meta)\./, '')
    .replace(/-v\d+$/, '')
    .replace(/-20\d\d-?\d\d-?\d\d$/, '');
  return name.startsWith('claude') ? name.replaceAll('.', '-') : name;
}
