// What a code or a field means, without a platform.

import type { OfflineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printError } from '../print/failure.ts'

export const explain: OfflineCommand = {
  name: 'explain',
  summary: 'show what a code of a rejection or a field of a manifest means',
  args: [{ name: 'word', summary: 'a code, or the path of a field' }],
  examples: [
    ['holdfast explain image_required', 'What leads to this code and what to do.'],
    ['holdfast explain healthCheck.timeout', 'What the field takes and what it is refused for.'],
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
      `nothing is called ${word}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`,
    )
    return EXIT.notFound
  },
}
