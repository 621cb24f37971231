// Rejects NUL in strings that are passed to a process, because the kernel would cut the string at the NUL.

import { accepted, onText, type Rule } from '../rule-engine/rule.ts'

const FIELDS = ['healthCheck.command[*]', 'environment.*', 'composedEnvironment.*', 'command[*]', 'args[*]']

export const textContentRules: readonly Rule[] = FIELDS.map(
  (at): Rule => ({
    code: 'field_type_invalid',
    at,
    stage: 'form',
    refuses: onText((text) => text.includes('\0') && accepted('a string without NUL characters')),
  }),
)
