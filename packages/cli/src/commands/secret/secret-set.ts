// `holdfast secret set`: writes a new version of a secret, with exactly the given keys or with these keys added. A write
// that would drop keys needs --replace.

import type { Client, Result, SentSecret } from '@holdfast/client'
import type { SecretWritten } from '@holdfast/contract'
import { NO_PATH, SECRET_ARGUMENT, secretPath } from '../../args/secret-argument.ts'
import { MATERIAL_DETAILS, MATERIAL_OPTIONS, NO_VALUES, readMaterial } from '../../args/secret-material.ts'
import type { Invocation, OnlineCommand } from '../../command.ts'
import { EXIT, type ExitCode } from '../../exit-codes.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { print, report, type Terminal } from '../../terminal/terminal.ts'

type SecretPath = NonNullable<ReturnType<typeof secretPath>>

export const secretSet: OnlineCommand = {
  name: 'secret set',
  summary: 'write a new version of a secret',
  details: `The new version has exactly the given keys. A write that would drop keys is refused: --add keeps them, --replace drops them.\n\n${MATERIAL_DETAILS}\n\nRunning containers keep their version until their deployment is applied, restarted or rotated.`,
  args: [SECRET_ARGUMENT, NO_VALUES],
  options: [
    ...MATERIAL_OPTIONS,
    { flags: '--add', summary: 'add or change the given keys and keep the others' },
    { flags: '--replace', summary: 'drop the keys that are not given' },
  ],
  examples: [
    ['holdfast secret set resources/orders-db --generate password', 'Lets the platform generate a password.'],
    ['holdfast secret set resources/orders-db --prompt password', 'Prompts for the value without echo.'],
    [
      'holdfast secret set resources/orders-db --add --prompt user',
      'Adds a key; the others keep their values.',
    ],
    [
      'holdfast secret set resources/tls --from-file cert=tls.pem --from-file key=tls.key',
      'Reads two keys from files.',
    ],
    [
      'pass show mail | holdfast secret set resources/mail --from-stdin password',
      'Reads the value from another program.',
    ],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args, flag } = invocation
    if (flag('add') && flag('replace')) {
      printError(terminal, '--add keeps the other keys and --replace drops them; use one of them')
      return EXIT.usage
    }
    const path = secretPath(args[0])
    const material = path === undefined ? undefined : await readMaterial(invocation, 1)
    if (path === undefined || material === undefined || !material.ok) {
      printError(terminal, material === undefined || material.ok ? NO_PATH : material.why)
      return EXIT.usage
    }
    const refused =
      flag('add') || flag('replace') ? undefined : await judge(terminal, client, path, material.sent)
    if (refused !== undefined) return refused
    const written = await write(invocation, client, path, material.sent)
    const exit = printWritten(invocation, written)
    if (written.ok) await printOutdated(terminal, client, written.value)
    return exit
  },
}

/** Asks the platform what the write would do. Returns the exit code if the write must not be sent. */
async function judge(
  terminal: Terminal,
  client: Client,
  path: SecretPath,
  sent: SentSecret,
): Promise<ExitCode | undefined> {
  const planned = await client.dryRuns.setSecret(path.namespace, path.resource, sent)
  if (!planned.ok) return printFailure(terminal, planned.failure)
  const dropped = planned.value.warnings.find(({ code }) => code === 'secret_keys_dropped')
  if (dropped === undefined) return undefined
  printError(
    terminal,
    `secret/${path.namespace}/${path.resource} not written. ${dropped.why} Use --add to keep the other keys, or --replace to drop them.`,
  )
  return EXIT.rejected
}

function write(
  { flag }: Invocation,
  { secrets }: Client,
  { namespace, resource }: SecretPath,
  sent: SentSecret,
): Promise<Result<SecretWritten>> {
  return flag('add') ? secrets.add(namespace, resource, sent) : secrets.set(namespace, resource, sent)
}

function printWritten({ terminal, flag }: Invocation, written: Result<SecretWritten>): ExitCode {
  if (!written.ok) {
    const exit = printFailure(terminal, written.failure)
    if (flag('add') && exit === EXIT.notFound)
      report(terminal, 'Write the first version of a secret without --add.')
    return exit
  }
  const { path, version, keys, warnings } = written.value
  print(terminal, `secret/${path} version ${version} written`)
  report(terminal, `keys: ${keys.join(', ')}`)
  for (const { why } of warnings) report(terminal, `warning: ${why}`)
  return EXIT.ok
}

const MOST_NAMED = 5

/** Names the deployments that still use an older version, each with the command that updates it. */
async function printOutdated(
  terminal: Terminal,
  client: Client,
  { path, resource, version }: SecretWritten,
): Promise<void> {
  const { readAll } = await import('@holdfast/client')
  const listed = await readAll((page) => client.secrets.consumers(resource, page))
  // The write succeeded, so a list that cannot be read is no failure of the command.
  if (!listed.ok) return
  // A canary keeps its version until it ends; a restart of its deployment would abort it.
  const older = listed.value.filter(
    (each) => !each.canary && each.vault_path === path && each.version !== null && each.version !== version,
  )
  const used = new Map(older.map((each) => [each.deployment, each.version]))
  for (const [name, uses] of [...used].slice(0, MOST_NAMED))
    report(terminal, `${name} still uses version ${uses}; next: holdfast rollout restart ${name}`)
  if (used.size > MOST_NAMED)
    report(terminal, `${used.size - MOST_NAMED} more: holdfast secret consumers ${resource}`)
}
