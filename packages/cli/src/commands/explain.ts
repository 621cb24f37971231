// `holdfast explain`: the meaning of a field, a code or another word that the platform prints, offline.

import type { OfflineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { outArea } from '../print/area.ts'
import { printError } from '../print/failure.ts'
import { print } from '../terminal/terminal.ts'

export const explain: OfflineCommand = {
  name: 'explain',
  summary: 'explain a field, a code, a phase or another word',
  details:
    'Without a word, prints the tree of all fields and the lists of other words: phases, reasons, refusals of nodes, states, events, roles, quotas, warnings, alterations, exit codes and rejection codes.',
  args: [{ name: 'word', summary: 'a field such as healthCheck.timeout, or any other word', optional: true }],
  examples: [
    ['holdfast explain', 'Prints the tree of all fields.'],
    ['holdfast explain healthCheck.timeout', 'Prints meaning, default, range, example and codes of a field.'],
    ['holdfast explain image_required', 'Prints the cause of a code and the fix.'],
    ['holdfast explain unhealthy', 'Explains the reason of a phase.'],
    ['holdfast explain roles', 'Lists the roles of tokens.'],
  ],
  online: false,
  async run({ terminal, args: [word] }) {
    const { explainAll, explainWord } = await import('../reference/explain.ts')
    const area = outArea(terminal)
    const explained =
      word === undefined ? { found: true as const, lines: explainAll(area) } : explainWord(word, area)
    if (explained.found) {
      for (const line of explained.lines) print(terminal, line)
      return EXIT.ok
    }
    const nearest = explained.nearest.join(' or ')
    const guess = nearest === '' ? 'holdfast explain lists all fields and words.' : `Did you mean ${nearest}?`
    printError(terminal, `No field or code "${word}". ${guess}`)
    return EXIT.notFound
  },
}
