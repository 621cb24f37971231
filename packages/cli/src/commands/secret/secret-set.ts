// `holdfast secret set`: writes a new version of a secret with exactly the given keys.

import { NO_PATH, SECRET_ARGUMENT, secretPath } from '../../args/secret-argument.ts'
import { MATERIAL_DETAILS, MATERIAL_OPTIONS, NO_VALUES, readMaterial } from '../../args/secret-material.ts'
import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { print, report } from '../../terminal/terminal.ts'

export const secretSet: OnlineCommand = {
  name: 'secret set',
  summary: 'write a new version of a secret with exactly the given keys',
  details: `${MATERIAL_DETAILS}\n\nRunning containers keep their version until their deployment is applied, restarted or rotated.`,
  args: [SECRET_ARGUMENT, NO_VALUES],
  options: MATERIAL_OPTIONS,
  examples: [
    ['holdfast secret set resources/orders-db --generate password', 'Lets the platform generate a password.'],
    ['holdfast secret set resources/orders-db --prompt password', 'Prompts for the value without echo.'],
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
    const { terminal, args } = invocation
    const path = secretPath(args[0])
    const material = path === undefined ? undefined : await readMaterial(invocation, 1)
    if (path === undefined || material === undefined || !material.ok) {
      printError(terminal, material === undefined || material.ok ? NO_PATH : material.why)
      return EXIT.usage
    }
    const written = await client.secrets.set(path.namespace, path.resource, material.sent)
    if (!written.ok) return printFailure(terminal, written.failure)
    print(terminal, `secret/${written.value.path} version ${written.value.version} written`)
    report(terminal, `keys: ${written.value.keys.join(', ')}`)
    return EXIT.ok
  },
}
