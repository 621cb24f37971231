// A new token. It is in the answer once: data on stdout, so that it can go straight to where it is kept.

import { DURATION, durationSeconds } from '../args/forms.ts'
import { tenantOf } from '../args/token-tenant.ts'
import { ROLE_WORDS } from '../args/vocabulary.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printError, printFailure } from '../print/failure.ts'
import { print, report } from '../terminal/terminal.ts'

const DEFAULT_LIFE = '30d'

export const tokenCreate: OnlineCommand = {
  name: 'token create',
  summary: 'issue a token of a tenant, and print it once',
  args: [{ name: 'name', summary: 'what it is for' }],
  options: [
    { flags: '--role <role>', summary: 'what it may do', choices: ROLE_WORDS },
    {
      flags: '--expires <duration>',
      summary: `how long it counts (default: ${DEFAULT_LIFE})`,
      form: DURATION,
    },
  ],
  examples: [['holdfast token create ci --role developer --expires 90d > ci.token', 'For a pipeline.']],
  online: true,
  async run(invocation, client) {
    const { terminal, args, text } = invocation
    const role = ROLE_WORDS.find((each) => each === text('role'))
    if (role === undefined) {
      printError(terminal, `no role is named: --role, one of ${ROLE_WORDS.join(', ')}`)
      return EXIT.usage
    }
    const tenant = await tenantOf(invocation)
    if (tenant === undefined) return EXIT.usage
    const seconds = durationSeconds(text('expires') ?? DEFAULT_LIFE) ?? 0
    const expiresAt = new Date(terminal.now() + seconds * 1000).toISOString()
    const issued = await client.tenants.issueToken(tenant, { name: args[0] ?? '', role, expiresAt })
    if (!issued.ok) return printFailure(terminal, issued.failure)
    print(terminal, issued.value.token ?? '')
    report(terminal, `token/${issued.value.id} issued, until ${issued.value.expiresAt}`)
    return EXIT.ok
  },
}
