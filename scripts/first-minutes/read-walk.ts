// The commands of a walk, as a document shows them, each with what it is said to print.

export interface WalkCommand {
  readonly text: string
  /** What the document shows below it. */
  readonly shown: readonly string[]
}

const CONSOLE = /^```console\n([\s\S]*?)^```$/gm

/** Those in the console blocks of one section, in their order. */
export function readWalk(document: string, heading: string): WalkCommand[] {
  const begin = document.indexOf(`\n## ${heading}\n`)
  if (begin === -1) throw new Error(`no section is called "${heading}"`)
  const end = document.indexOf('\n## ', begin + 1)
  const section = document.slice(begin, end === -1 ? undefined : end)
  return [...section.matchAll(CONSOLE)].flatMap(([, block = '']) => readBlock(block))
}

function readBlock(block: string): WalkCommand[] {
  return block
    .split(/^\$ /m)
    .filter((each) => each !== '')
    .map((each) => {
      const lines = each.trimEnd().split('\n')
      const ends = lines.findIndex((_, at) => isWhole(lines.slice(0, at + 1).join('\n')))
      return { text: lines.slice(0, ends + 1).join('\n'), shown: lines.slice(ends + 1) }
    })
}

/** A command goes on in the next line while a quote is open. */
const isWhole = (text: string): boolean => text.split("'").length % 2 === 1
