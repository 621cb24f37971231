// `holdfast tenant remove`: removes a tenant and all its resources, after its name was typed once more.

import type { Tenant } from '@holdfast/contract'
import type { Invocation, OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../../dry-run.ts'
import { EXIT, type ExitCode } from '../../exit-codes.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { print } from '../../terminal/terminal.ts'

export const tenantRemove: OnlineCommand = {
  name: 'tenant remove',
  summary: 'remove a tenant and all its resources; for platform administrators',
  details:
    'Asks for the name of the tenant; scripts use --yes. Its tokens are revoked immediately; the other resources are removed after that.',
  args: [{ name: 'tenant', summary: 'name or id of the tenant' }],
  options: [{ flags: '--yes', summary: 'do not ask' }, DRY_RUN_OPTION],
  examples: [
    ['holdfast tenant remove acme --dry-run', 'Shows what would be stopped.'],
    ['holdfast tenant remove acme', 'Asks for the name, then removes the tenant; this cannot be undone.'],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args, flag } = invocation
    const [typed = ''] = args
    if (flag('dry-run'))
      return printPlanned(terminal, `tenant/${typed}`, 'removed', await client.dryRuns.removeTenant(typed))
    const found = await client.tenants.read(typed)
    if (!found.ok) return printFailure(terminal, found.failure)
    const refused = flag('yes') ? undefined : await confirm(invocation, found.value)
    if (refused !== undefined) return refused
    const removed = await client.tenants.remove(found.value.id)
    if (!removed.ok) return printFailure(terminal, removed.failure)
    print(terminal, `tenant/${removed.value.id} being removed`)
    return EXIT.ok
  },
}

/** Returns the exit code if the tenant must not be removed. */
async function confirm({ terminal }: Invocation, { name }: Tenant): Promise<ExitCode | undefined> {
  const answer = await terminal.ask(
    `This removes tenant ${name} with its deployments, secrets and tokens. Type its name to confirm: `,
  )
  if (answer?.trim() === name) return undefined
  printError(
    terminal,
    answer === undefined
      ? `stdin is not a terminal; use --yes to remove tenant ${name}`
      : `tenant ${name} was not removed: the name does not match`,
  )
  return answer === undefined ? EXIT.usage : EXIT.error
}
