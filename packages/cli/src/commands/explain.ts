// `holdfast explain`: the meaning of a rejection code or a manifest field, offline.

import type { OfflineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printError } from '../print/failure.ts'

export const explain: OfflineCommand = {
  name: 'explain',
  summary: 'explain a rejection code or a manifest field',
  args: [{ name: 'word', summary: 'a code or a field path' }],
  examples: [
    ['holdfast explain image_required', 'Shows the cause of a code and the fix.'],
    ['holdfast explain healthCheck.timeout', 'Shows the type of a field and its rejection codes.'],
  ],
  online: false,
  async run({ terminal, args: [word = ''] }) {
    const { explainableWords, explainWord } = await import('../reference/explain.ts')
    const page = explainWord(word)
    if (page !== undefined) {
      terminal.out(page)
      return EXIT.ok
    }
    const { nearestName } = await import('@holdfast/contract')
    const nearest = nearestName(word, explainableWords())
    printError(
      terminal,
      `there is no code or field ${word}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`,
    )
    return EXIT.notFound
  },
}
