// How a session in a container ended, as a sentence with the next step.

import { explainFailure } from '../../api/failure.ts'
import type { ExecState } from '../../api/terminal/exec-session.ts'
import { texts } from '../../texts/en.ts'

/** Exit codes of the engine for a program that is missing or cannot be run. */
const NOT_RUN = [126, 127]

export function explainState(state: ExecState, program: string): string {
  switch (state.kind) {
    case 'exited':
      return NOT_RUN.includes(state.code)
        ? texts.terminal.notFound(program)
        : texts.terminal.exited(state.code)
    case 'broken':
      return state.reason === 'node_unreachable'
        ? texts.terminal.unreachable
        : texts.terminal.broken(state.reason)
    case 'refused':
      return explainFailure(state.error).title
    default:
      return texts.terminal.states[state.kind]
  }
}
