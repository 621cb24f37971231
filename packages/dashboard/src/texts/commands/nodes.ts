// The commands and API calls that change nodes.

import { API, type Equivalent, word } from '../commands.ts'

const one = (id: string): string => `${API}/nodes/${encodeURIComponent(id)}`

export const nodeEquivalents = {
  join: (name: string): Equivalent => ({
    command: `holdfast node join-token ${word(name)}`,
    call: `POST ${API}/nodes/join-tokens`,
  }),
  remove: (name: string, id: string): Equivalent => ({
    command: `holdfast node remove ${word(name)}`,
    call: `DELETE ${one(id)}`,
  }),
}
