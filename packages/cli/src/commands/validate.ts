// The rules of the body, without a platform.

import type { OfflineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { FILENAME_OPTION } from '../manifest/read-sources.ts'
import { print } from '../terminal/terminal.ts'

export const validate: OfflineCommand = {
  name: 'validate',
  summary: 'check manifests by the rules of the platform, without asking it',
  details:
    'What only a platform knows is not checked: whether the image exists, which registries it allows, which regions it declares, its nodes and its quotas. `apply --dry-run` asks for all of that.',
  options: [FILENAME_OPTION],
  examples: [
    ['holdfast validate -f web.yaml', 'Shows every fault where it stands.'],
    ['holdfast validate -f manifests/', 'All manifests of a folder.'],
  ],
  online: false,
  async run(invocation) {
    const [{ loadManifests, nameOf }, { checkOffline }, { printRejections }] = await Promise.all([
      import('../manifest/load-manifests.ts'),
      import('../manifest/rules.ts'),
      import('../manifest/show-faults.ts'),
    ])
    const loaded = await loadManifests(invocation)
    if (!loaded.ok) return loaded.exitCode
    let sound = true
    for (const manifest of loaded.manifests) {
      const rejections = checkOffline(manifest.value)
      printRejections(invocation.terminal, manifest, rejections)
      if (rejections.length === 0) print(invocation.terminal, `deployment/${nameOf(manifest.value)} valid`)
      else sound = false
    }
    return sound ? EXIT.ok : EXIT.rejected
  },
}
