import type { ContentPart } from '../context/log/content.ts';
import type { ModelAnswer, ModelRequest } from './model-client.ts';

/** A tool of this name stands for the form of the answer where a server has no other way to ask for it. */
const FINAL_TOOL = 'final_answer';

/**
 * Makes a call whose answer has the form that is asked for.
 * @param isNative whether the server takes the form itself; else it is offered as a tool, whose call becomes the answer's text
 */
export async function answerInForm(
  request: ModelRequest,
  isNative: boolean,
  call: (request: ModelRequest) => Promise<ModelAnswer>,
): Promise<ModelAnswer> {
  const { output, ...options } = request.options ?? {};
  if (output === undefined || isNative) return call(request);
  const tool = {
    name: FINAL_TOOL,
    description: 'Gives the final answer. Call it once, alone, when all work is done.',
    inputSchema: output,
  };
  return withoutFinalTool(
    await call({ ...request, options, view: { ...request.view, tools: [...request.view.tools, tool] } }),
  );
}

/** Beside other calls the final one comes too early: it is left out, and the model gives it again with their results. */
function withoutFinalTool(answer: ModelAnswer): ModelAnswer {
  const calls = answer.content.filter((part) => part.type === 'tool_call');
  const others = calls.filter((part) => part.name !== FINAL_TOOL);
  if (others.length === calls.length) return answer;
  if (others.length > 0) {
    const content = answer.content.flatMap((part): ContentPart[] => {
      if (part.type !== 'tool_call') return [part];
      const index = others.indexOf(part);
      return index === -1 ? [] : [{ ...part, index }];
    });
    return { ...answer, content };
  }
  const content = answer.content.flatMap((part): ContentPart[] => {
    if (part.type === 'text') return [];
    return [part.type === 'tool_call' ? { type: 'text', text: part.arguments } : part];
  });
  return { ...answer, content, stopReason: answer.stopReason === 'tool_calls' ? 'end' : answer.stopReason };
}
