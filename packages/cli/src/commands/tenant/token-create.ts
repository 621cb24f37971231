// `holdfast token create`: issues an access token. The token is shown only once, and goes to stdout so that it can be
// redirected to a file.

import { DURATION, durationSeconds } from '../../args/forms.ts'
import { tenantOf } from '../../args/token-tenant.ts'
import { ROLE_WORDS } from '../../args/vocabulary.ts'
import type { Invocation, OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { print, report } from '../../terminal/terminal.ts'

const DEFAULT_VALIDITY = '30d'

export const tokenCreate: OnlineCommand = {
  name: 'token create',
  summary: 'issue an access token and print it once',
  details:
    'The token is for the tenant of the token in use. A platform administrator names the tenant with --tenant, except for another platform administrator.',
  args: [{ name: 'name', summary: 'name of the token, such as its purpose' }],
  options: [
    { flags: '--role <role>', summary: 'role of the token', choices: ROLE_WORDS },
    {
      flags: '--expires <duration>',
      summary: `validity (default: ${DEFAULT_VALIDITY})`,
      form: DURATION,
    },
  ],
  examples: [
    ['holdfast token create ci --role developer --expires 90d > ci.token', 'Creates a token for a pipeline.'],
    [
      'holdfast token create ann --role tenant-admin --tenant acme',
      'Creates the first token of a tenant, as a platform administrator.',
    ],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args, text } = invocation
    const role = ROLE_WORDS.find((each) => each === text('role'))
    if (role === undefined) {
      printError(terminal, `no role given; use --role with one of ${ROLE_WORDS.join(', ')}`)
      return EXIT.usage
    }
    const found = await tenantOf(terminal, client)
    if (!found.ok) return found.exit
    if (found.role === 'platform-admin' && role !== 'platform-admin' && !(await choosesTenant(invocation))) {
      const typed = `holdfast token create ${args[0]} --role ${role} --tenant NAME`
      printError(
        terminal,
        `no tenant given for the role ${role}; type: ${typed} (holdfast get tenants lists them)`,
      )
      return EXIT.usage
    }
    const seconds = durationSeconds(text('expires') ?? DEFAULT_VALIDITY) ?? 0
    const expiresAt = new Date(terminal.now() + seconds * 1000).toISOString()
    const issued = await client.tenants.issueToken(found.tenant.id, { name: args[0] ?? '', role, expiresAt })
    if (!issued.ok) return printFailure(terminal, issued.failure)
    print(terminal, issued.value.token ?? '')
    const { id, expiresAt: until } = issued.value
    report(terminal, `token/${id} (${role} of tenant ${found.tenant.name}) issued, valid until ${until}`)
    return EXIT.ok
  },
}

async function choosesTenant({ settings }: Invocation): Promise<boolean> {
  const chosen = await settings()
  return chosen.ok && chosen.settings.tenant !== undefined
}
