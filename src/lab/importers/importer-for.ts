import type { SessionFormat } from '../read/detect-format.ts';
import type { CreateImporter } from '../session-record.ts';
import { ClaudeCodeImporter } from './claude-code.ts';
import { CodexImporter } from './codex.ts';
import { createCopilotImporter } from './copilot-cli.ts';
import { createGeminiImporter } from './gemini-cli.ts';
import { OpenAiImporter } from './openai-messages.ts';
import { PiImporter } from './pi.ts';

const IMPORTERS: Readonly<Record<SessionFormat, CreateImporter>> = {
  'claude-code': (tally) => new ClaudeCodeImporter(tally),
  codex: (tally) => new CodexImporter(tally),
  pi: (tally) => new PiImporter(tally),
  'gemini-cli': createGeminiImporter,
  'copilot-cli': createCopilotImporter,
  'openai-messages': (tally) => new OpenAiImporter(tally),
};

export function importerFor(format: SessionFormat): CreateImporter {
  return IMPORTERS[format];
}
