// The command and the API call that do the same as the pages of jobs, volumes, networks, backups, residency and access.

import { API, type Equivalent } from './commands.ts'

export const resourceEquivalents = {
  networks: (): Equivalent => ({ command: 'holdfast network list', call: `GET ${API}/networks` }),
}
