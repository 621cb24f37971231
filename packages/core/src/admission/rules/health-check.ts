// Rules for health checks, which must run a command. A wrong type or command of a health check is reported with one of
// three codes. Further rules check the minimum values of retries and times.

import { durationMs, type Json } from '@holdfast/contract'
import {
  accepted,
  isAbsent,
  onNumber,
  onText,
  type Rule,
  sibling,
  type Verdict,
} from '../rule-engine/rule.ts'

/** The most retries of a health check, because the container engine stores the number in 32 bits. */
const MAX_RETRIES = 2_147_483_647

export const healthCheckRules: readonly Rule[] = [
  {
    code: 'healthcheck_type_inert',
    at: 'healthCheck.type',
    stage: 'required',
    refuses: (value, _context, place) =>
      isAbsent(value) ||
      value === '' ||
      value === 'none' ||
      firstElement(sibling(place, 'command')) === 'NONE',
  },
  {
    code: 'healthcheck_type_unsupported',
    at: 'healthCheck.type',
    stage: 'form',
    refuses: onText((type) => type !== 'exec'),
  },
  {
    code: 'healthcheck_command_missing',
    at: 'healthCheck.command',
    stage: 'required',
    refuses: (value, _context, place) => sibling(place, 'type') === 'exec' && isBlankCommand(value),
  },
  {
    code: 'healthcheck_retries_below_floor',
    at: 'healthCheck.retries',
    stage: 'range',
    refuses: onNumber(
      (retries, { limits }) =>
        retries < limits.healthCheckRetriesFloor && { params: { floor: limits.healthCheckRetriesFloor } },
    ),
  },
  {
    code: 'field_type_invalid',
    at: 'healthCheck.retries',
    stage: 'range',
    refuses: onNumber(
      (retries) => retries > MAX_RETRIES && accepted(`a whole number of at most ${MAX_RETRIES}`),
    ),
  },
  {
    code: 'healthcheck_timeout_below_floor',
    at: 'healthCheck.timeout',
    stage: 'range',
    refuses: onText((text, { limits }) => isShorter(text, limits.healthCheckTimeoutFloorMs)),
  },
  {
    code: 'healthcheck_interval_below_floor',
    at: 'healthCheck.interval',
    stage: 'range',
    refuses: onText((text, { limits }) => isShorter(text, limits.healthCheckIntervalFloorMs)),
  },
]

function isShorter(text: string, floorMs: number): Verdict {
  return (durationMs(text) ?? 0) < floorMs && { params: { floor: `${floorMs / 1000}s` } }
}

function firstElement(command: Json | undefined): Json | undefined {
  return Array.isArray(command) ? command[0] : undefined
}

/** Whether a command has no program to run: absent, empty, or a blank first element. */
function isBlankCommand(command: Json | undefined): boolean {
  if (isAbsent(command)) return true
  if (!Array.isArray(command)) return false
  const [program] = command
  return program === undefined || (typeof program === 'string' && program.trim() === '')
}
