// Parses a Server-Sent Events stream from chunks of any size. An incomplete message at the end is dropped together with
// its id, so that the server sends it again when the stream resumes.

import { defined } from '@holdfast/contract'

export interface ServerSentMessage {
  readonly type: string
  /** Content of the message; absent in messages that only advance the cursor. */
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
  let incomplete = ''
  let draft = emptyDraft()
  const parseLine = (line: string): ServerSentMessage | undefined => {
    if (line !== '') return void addField(draft, line)
    const { type, data, id } = draft
    draft = emptyDraft()
    if (data.length === 0 && id === undefined) return undefined
    return {
      type,
      ...defined({ data: data.length === 0 ? undefined : data.join('\n'), id }),
    }
  }
  return {
    push(text) {
      incomplete += text
      // A carriage return at the end of a chunk may be the first half of a CRLF line break.
      const lines = incomplete.split(/\r\n|\n|\r(?!$)/)
      incomplete = lines.pop() ?? ''
      return lines.map(parseLine).filter((message) => message !== undefined)
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
