// How the commands of every guide are run, so that no page is left out (tests/unit/walked-guides.test.ts).

/**
 * Guides that are walked on the development platform: lanes at the same time, the guides of a lane one after another. Each guide
 * removes what it creates.
 */
export const LANES: readonly (readonly string[])[] = [
  ['run-a-job', 'private-networks', 'move-from-compose'],
  ['scale-and-release-carefully', 'back-up-and-restore-a-deployment', 'try-a-change-in-a-canary'],
  ['secrets-and-rotation'],
]

/** Guides that are walked after the lanes, one after another: they drain or stop machines, change quotas, or end without the server. */
export const ALONE: readonly string[] = [
  'deploy-update-roll-back',
  'why-is-it-not-running',
  'a-database-that-keeps-its-data',
  'when-a-machine-dies',
  'when-the-databases-machine-dies',
  'data-residency',
]

/** Guides without commands. */
export const WITHOUT_COMMANDS: readonly string[] = [
  'concepts',
  'ports-and-firewall',
  'the-dashboard-in-five-minutes',
  'topologies',
]

/** Guides whose commands are steps of scripts, which check their effects instead of their output. */
export const IN_SCRIPTS: { readonly [guide: string]: readonly string[] } = {
  install: [
    'scripts/package/try-setup',
    'scripts/package/platform-steps.sh',
    'scripts/package/node-steps.sh',
    // Prints the command of the enrollment, which the step `enroll` runs.
    'packages/server/src/operations/nodes/join-token.ts',
  ],
  doctor: ['scripts/package/try-setup'],
}

/** Guides that a script walks with walk-page.ts in machines on which the packages are installed. */
export const ON_MACHINES: { readonly [script: string]: readonly string[] } = {
  'scripts/package/try-guides': ['configuration', 'first-node', 'upgrade', 'uninstall'],
  'scripts/package/try-three-machines': ['three-machines'],
}

/** Other pages with commands: who runs them, or why no script does. */
export const OTHER_PAGES: { readonly [page: string]: string } = {
  'README.md': 'scripts/first-minutes.ts',
  'CONTRIBUTING.md': 'exempt: npm scripts of this repository, which CI and the README run',
  'docs/design/artefacts.md':
    'exempt: builds with keys of a publisher, and commands for a downloaded release',
}
