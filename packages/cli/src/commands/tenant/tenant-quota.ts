// `holdfast tenant quota`: sets quotas of a tenant.

import { QUOTA_WORDS } from '../../args/vocabulary.ts'
import type { OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../../dry-run.ts'
import { EXIT } from '../../exit-codes.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { print } from '../../terminal/terminal.ts'

const QUOTA = /^([a-z_]+)=(\d{1,15})$/

export const tenantQuota: OnlineCommand = {
  name: 'tenant quota',
  summary: 'set quotas of a tenant; for platform administrators',
  args: [
    { name: 'tenant', summary: 'name or id of the tenant' },
    { name: 'quota', summary: `kind=limit; the kinds are ${QUOTA_WORDS.join(', ')}`, many: true },
  ],
  options: [DRY_RUN_OPTION],
  examples: [
    [
      'holdfast tenant quota acme nodes=20 containers=200',
      'Sets two quotas and leaves the others unchanged.',
    ],
  ],
  online: true,
  async run({ terminal, args: [tenant = '', ...typed], flag }, client) {
    const quotas: { [kind: string]: number } = {}
    for (const each of typed) {
      const [, kind, limit] = QUOTA.exec(each) ?? []
      if (kind === undefined) {
        const [, word, amount] = /^(\w+)=(.*)$/.exec(each) ?? []
        const problem = word === undefined ? `${each} is not a quota` : `"${amount}" is not a number`
        printError(terminal, `${problem}; for example ${word ?? 'nodes'}=20`)
        return EXIT.usage
      }
      quotas[kind] = Number(limit)
    }
    if (flag('dry-run'))
      return printPlanned(
        terminal,
        `tenant/${tenant}`,
        'configured',
        await client.dryRuns.changeTenant(tenant, { quotas }),
      )
    const changed = await client.tenants.change(tenant, { quotas })
    if (!changed.ok) return printFailure(terminal, changed.failure)
    print(terminal, `tenant/${changed.value.id} configured`)
    return EXIT.ok
  },
}
