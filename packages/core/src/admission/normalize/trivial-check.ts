// Warns about a health check that cannot fail. Such a check is accepted, although it always reports healthy.

import { isJsonObject, type Json, type JsonObject, type Warning } from '@holdfast/contract'

const ALWAYS_TRUE = /^(?:(?:\/usr)?\/bin\/)?true$|^:$|^exit 0$/
/** Longest command line, in characters, that is tested for being trivial: a trivial command line is short. */
const LONGEST_LINE = 512
/** Matches the last part of a command line, to find a part that always succeeds: `curl ... || true`. */
const LAST_PART = /(?:\|\||;)([^|;&]*)$/
const SHELLS: ReadonlySet<Json> = new Set(['sh', 'bash', '/bin/sh', '/bin/bash', '/bin/ash', 'ash'])
const TRUE_PROGRAMS: ReadonlySet<Json> = new Set(['true', '/bin/true', '/usr/bin/true'])

export function explainTrivialCheck(sent: JsonObject): Warning[] {
  const { healthCheck } = sent
  if (!isJsonObject(healthCheck) || !isTrivialCommand(healthCheck.command)) return []
  const why = 'This command cannot fail, so the check always reports healthy.'
  return [{ code: 'health_check_trivial', field: 'healthCheck.command', why }]
}

/** Whether a command always succeeds. A command of one element is a shell line, otherwise a program with arguments. */
function isTrivialCommand(command: Json | undefined): boolean {
  if (!Array.isArray(command)) return false
  const [program, option, line] = command
  if (command.length === 1) return typeof program === 'string' && isTrivialLine(program)
  if (program === undefined) return false
  if (TRUE_PROGRAMS.has(program)) return true
  return SHELLS.has(program) && option === '-c' && typeof line === 'string' && isTrivialLine(line)
}

function isTrivialLine(line: string): boolean {
  if (line.length > LONGEST_LINE) return false
  const trimmed = line.replace(/[\s;]+$/, '').trim()
  const last = LAST_PART.exec(trimmed)?.[1] ?? trimmed
  return ALWAYS_TRUE.test(last.trim().replace(/\s+/g, ' '))
}
