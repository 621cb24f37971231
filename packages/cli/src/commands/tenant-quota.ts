// How much a tenant may have.

import { QUOTA_WORDS } from '../args/vocabulary.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printError, printFailure } from '../print/failure.ts'
import { print } from '../terminal/terminal.ts'

const QUOTA = /^([a-z_]+)=(\d{1,15})$/

export const tenantQuota: OnlineCommand = {
  name: 'tenant quota',
  summary: 'set quotas of a tenant; for platform administrators',
  args: [
    { name: 'tenant', summary: 'its id' },
    { name: 'quota', summary: `kind=limit; kinds are ${QUOTA_WORDS.join(', ')}`, many: true },
  ],
  examples: [['holdfast tenant quota 0b7a... nodes=20 containers=200', 'The others stay as they are.']],
  online: true,
  async run({ terminal, args: [tenant = '', ...typed] }, client) {
    const quotas: { [kind: string]: number } = {}
    for (const each of typed) {
      const [, kind, limit] = QUOTA.exec(each) ?? []
      if (kind === undefined) {
        printError(terminal, `${each} is no quota: kind=limit, for example nodes=20`)
        return EXIT.usage
      }
      quotas[kind] = Number(limit)
    }
    const changed = await client.tenants.change(tenant, { quotas })
    if (!changed.ok) return printFailure(terminal, changed.failure)
    print(terminal, `tenant/${changed.value.id} configured`)
    return EXIT.ok
  },
}
