import type { SessionFormat } from '../read/detect-format.ts';
import type { CreateImporter } from '../session-record.ts';
import { createClaudeCodeImporter } from './claude-code.ts';
import { createCodexImporter } from './codex.ts';
import { createCopilotImporter } from './copilot-cli.ts';
import { createGeminiImporter } from './gemini-cli.ts';
import { createOpenAiImporter } from './openai-messages.ts';
import { createPiImporter } from './pi.ts';

const IMPORTERS: Readonly<Record<SessionFormat, CreateImporter>> = {
  'claude-code': createClaudeCodeImporter,
  codex: createCodexImporter,
  pi: createPiImporter,
  'gemini-cli': createGeminiImporter,
  'copilot-cli': createCopilotImporter,
  'openai-messages': createOpenAiImporter,
};

export function importerFor(format: SessionFormat): CreateImporter {
  return IMPORTERS[format];
}
