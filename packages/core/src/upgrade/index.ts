// Versions that work together, and the plan of an upgrade.

export { judgeUpgrade, type UpgradeFacts, type UpgradeFinding } from './judge-upgrade.ts'
export { isOlder } from './version-skew.ts'
