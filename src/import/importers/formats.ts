import type { SessionFormat } from '../read/detect-format.ts';
import { FileOrder } from '../read/arrangement.ts';
import type { FileFormat } from '../session-record.ts';
import { CLAUDE_CODE } from './claude-code.ts';
import { CODEX } from './codex.ts';
import { COPILOT_CLI } from './copilot-cli.ts';
import { GEMINI_CLI } from './gemini-cli.ts';
import { OpenAiImporter } from './openai-messages.ts';
import { PI } from './pi.ts';

export const FORMATS: Readonly<Record<SessionFormat, FileFormat>> = {
  'claude-code': CLAUDE_CODE,
  codex: CODEX,
  pi: PI,
  'gemini-cli': GEMINI_CLI,
  'copilot-cli': COPILOT_CLI,
  'openai-messages': { importer: (tally) => new OpenAiImporter(tally), arrangement: () => new FileOrder() },
};
