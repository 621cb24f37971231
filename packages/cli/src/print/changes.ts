// What the platform changed or noticed beside what was sent: every alteration and every warning. SPEC 1.

import { type Alteration, type Json, jsonText, type Warning } from '@holdfast/contract'
import { type Terminal, tell } from '../terminal.ts'
import { paint } from './color.ts'
import { plain } from './plain.ts'

export interface Announced {
  readonly alterations: readonly Alteration[]
  readonly warnings: readonly Warning[]
}

export function tellAnnounced(terminal: Terminal, { alterations, warnings }: Announced): void {
  const colored = terminal.color && terminal.errIsTerminal
  for (const { code, field, from, to, why } of alterations)
    tell(
      terminal,
      `  altered: ${plain(field)}: ${valueText(from)} -> ${valueText(to)} (${code}: ${plain(why)})`,
    )
  for (const { code, field, why } of warnings)
    tell(terminal, `  ${paint('warning:', 'yellow', colored)} ${plain(field)}: ${plain(why)} (${code})`)
}

const MOST = 200

export function valueText(value: Json): string {
  const text = value === null ? 'absent' : plain(typeof value === 'string' ? value : jsonText(value))
  return text.length > MOST ? `${text.slice(0, MOST)}...` : text
}
