// A token is tried before it is kept: what is in the file works.

import { resolve } from 'node:path'
import type { Invocation, OfflineCommand } from '../command.ts'
import { connect } from '../connect.ts'
import { EXIT } from '../exit-codes.ts'
import { printError, printFailure } from '../print/failure.ts'
import { withContext } from '../settings/contexts.ts'
import { readContextsFile, writeContextsFile } from '../settings/contexts-file.ts'
import { report } from '../terminal/terminal.ts'

export const login: OfflineCommand = {
  name: 'login',
  summary: 'keep an address and a token as a context, and make it the current one',
  details:
    'The token comes from --token-stdin, HOLDFAST_TOKEN or a hidden question, and is tried before it is kept. With --ca-file the path of that file is kept too. The file of contexts is ~/.config/holdfast/config.yaml, or the one that HOLDFAST_CONTEXTS_FILE names; its owner alone may read it.',
  options: [
    { flags: '--name <context>', summary: 'what to call the context (default: the host of the address)' },
    { flags: '--token-stdin', summary: 'read the token from stdin' },
  ],
  examples: [
    ['holdfast login --url https://holdfast.example', 'Asks for the token and keeps it.'],
    ['holdfast login --url http://127.0.0.1:7400 --token-stdin < token', 'Off a terminal.'],
    [
      'holdfast login --url https://holdfast.internal --ca-file ca.pem',
      'A platform with an authority of its own.',
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
    const { url, tenant, caFile, context: current = '' } = chosen.settings
    const kept = file.contexts.contexts[current]?.token
    const token = url === undefined ? undefined : await tokenFor(invocation, chosen.settings.token, kept)
    if (url === undefined || token === undefined) {
      printError(
        terminal,
        url === undefined
          ? 'no address is given: --url <address>'
          : 'no token is given: --token-stdin, or HOLDFAST_TOKEN',
      )
      return EXIT.usage
    }
    const connected = await connect(invocation, { ...chosen.settings, url, token })
    if (!connected.ok) {
      printError(terminal, connected.why)
      return EXIT.usage
    }
    const tried = await connected.client.tenants.quotas()
    if (!tried.ok) return printFailure(terminal, tried.failure)
    const name = invocation.text('name') ?? new URL(url).host
    const context = {
      ...{ url, token },
      ...(tenant === undefined ? {} : { tenant }),
      // From wherever it is used next.
      ...(caFile === undefined ? {} : { caFile: resolve(caFile) }),
    }
    await writeContextsFile(contextsFile, withContext(file.contexts, name, context))
    report(terminal, `logged in to ${url}; the context ${name} is the current one`)
    return EXIT.ok
  },
}

/** Asked for only where nobody gave one now. What an earlier login kept is tried again where nothing is typed. */
async function tokenFor(
  { terminal, flag }: Invocation,
  known: string | undefined,
  kept: string | undefined,
): Promise<string | undefined> {
  if (flag('token-stdin')) return new TextDecoder().decode(await terminal.readInput()).trim() || undefined
  if (known !== undefined && known !== kept) return known
  return (await terminal.askSecret('Token: '))?.trim() || known
}
