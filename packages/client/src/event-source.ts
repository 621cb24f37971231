// The text of a Server-Sent Events stream as messages, cut wherever the network cut it. A message that is not closed by its
// empty line never was: its id does not count, and it comes again after a resume.

interface ServerSentMessage {
  readonly type: string
  /** Absent where only the place is told from which to go on. */
  readonly data?: string
  readonly id?: string
}

export interface MessageParser {
  push(text: string): ServerSentMessage[]
}

interface Draft {
  type: string
  data: string[]
  id?: string
}

const emptyDraft = (): Draft => ({ type: 'message', data: [] })

export function createMessageParser(): MessageParser {
  let rest = ''
  let draft = emptyDraft()
  const takeLine = (line: string): ServerSentMessage | undefined => {
    if (line !== '') return void addField(draft, line)
    const { type, data, id } = draft
    draft = emptyDraft()
    if (data.length === 0 && id === undefined) return undefined
    return {
      type,
      ...(data.length === 0 ? {} : { data: data.join('\n') }),
      ...(id === undefined ? {} : { id }),
    }
  }
  return {
    push(text) {
      rest += text
      // A return at the very end may be half of a line break.
      const lines = rest.split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop() ?? ''
      return lines.map(takeLine).filter((message) => message !== undefined)
    },
  }
}

function addField(draft: Draft, line: string): void {
  const colon = line.indexOf(':')
  if (colon === 0) return
  const name = colon < 0 ? line : line.slice(0, colon)
  const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
  if (name === 'data') draft.data.push(value)
  else if (name === 'event') draft.type = value
  else if (name === 'id' && !value.includes('\0')) draft.id = value
}
