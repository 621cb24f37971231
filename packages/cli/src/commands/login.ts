// `holdfast login`: checks a token against the platform and stores it as a context.

import { resolve } from 'node:path'
import { defined } from '@holdfast/contract'
import type { Invocation, OfflineCommand, Settings } from '../command.ts'
import { connect, printUnconnected } from '../connect.ts'
import { EXIT } from '../exit-codes.ts'
import { printError, printFailure } from '../print/failure.ts'
import { withContext } from '../settings/contexts.ts'
import { readContextsFile, writeContextsFile } from '../settings/contexts-file.ts'
import { report } from '../terminal/terminal.ts'

export const login: OfflineCommand = {
  name: 'login',
  summary: 'store an address and a token as the current context',
  details:
    'The token comes from --token-stdin, HOLDFAST_TOKEN or a hidden prompt, never from another context, and is checked before it is stored. With --ca-file the path of that file is stored too. The contexts file is ~/.config/holdfast/config.yaml, or the file in HOLDFAST_CONTEXTS_FILE; only its owner can read it.',
  options: [
    { flags: '--name <context>', summary: 'name of the context (default: the host of the address)' },
    { flags: '--token-stdin', summary: 'read the token from stdin' },
  ],
  examples: [
    ['holdfast login --url https://holdfast.example', 'Prompts for the token and stores it.'],
    [
      'holdfast login --url http://127.0.0.1:7400 --token-stdin < token',
      'Reads the token from a file, for scripts.',
    ],
    [
      'holdfast login --url https://holdfast.internal --ca-file ca.pem',
      'Logs in to a platform with a private certificate authority.',
    ],
  ],
  online: false,
  async run(invocation) {
    const { terminal, contextsFile } = invocation
    const chosen = await invocation.settings()
    const file = await readContextsFile(contextsFile)
    if (!chosen.ok || !file.ok) {
      printError(terminal, !chosen.ok ? chosen.why : file.ok ? '' : file.why)
      return EXIT.usage
    }
    const { url, tenant, caFile } = chosen.settings
    const token = url === undefined ? undefined : await tokenFor(invocation, chosen.settings)
    if (url === undefined || token === undefined) {
      printError(
        terminal,
        url === undefined
          ? 'no address given; use --url <address>'
          : 'no token given; use --token-stdin or HOLDFAST_TOKEN',
      )
      return EXIT.usage
    }
    const connected = await connect(invocation, { ...chosen.settings, url, token })
    if (!connected.ok) return printUnconnected(terminal, connected)
    const me = await connected.client.tenants.me()
    if (!me.ok) return printFailure(terminal, me.failure)
    const name = invocation.text('name') ?? new URL(url).host
    const context = {
      url,
      token,
      tenantName: me.value.tenant.name,
      // A chosen tenant is stored by id, which a later change of its name does not affect. The path of the CA file is
      // stored absolute, because later commands run in other folders.
      ...defined({
        tenant: tenant && me.value.tenant.id,
        caFile: caFile === undefined ? undefined : resolve(caFile),
      }),
    }
    await writeContextsFile(contextsFile, withContext(file.contexts, name, context))
    const { token: used, tenant: own } = me.value
    report(
      terminal,
      `logged in to ${url} as ${used.name} (${used.role} of tenant ${own.name}); current context: ${name}`,
    )
    return EXIT.ok
  },
}

/** The token for a login: sent explicitly, else from a prompt. The token of a stored context is never used. */
async function tokenFor(
  { terminal, flag }: Invocation,
  { token, tokenIsStored }: Settings,
): Promise<string | undefined> {
  if (flag('token-stdin')) return new TextDecoder().decode(await terminal.readInput()).trim() || undefined
  if (token !== undefined && tokenIsStored !== true) return token
  return (await terminal.askSecret('Token: '))?.trim() || undefined
}
