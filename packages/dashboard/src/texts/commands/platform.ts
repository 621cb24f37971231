// The commands and API calls of the pages for platform administrators.

import { API, type Equivalent, word } from '../commands.ts'

export const platformEquivalents = {
  platform: (): Equivalent => ({ command: 'holdfast get tenants', call: `GET ${API}/platform` }),
  tenants: (): Equivalent => ({
    command: 'holdfast get tenants',
    call: `GET ${API}/tenants?view=summary&sort=worst`,
  }),
  tenant: (name: string, id: string): Equivalent => ({
    command: `holdfast token list --tenant ${word(name)}`,
    call: `GET ${API}/tenants/${encodeURIComponent(id)}`,
  }),
  create: (name: string): Equivalent => ({
    command: `holdfast tenant create ${word(name)}`,
    call: `POST ${API}/tenants`,
  }),
}
