export declare function needsInstallation(root: string): boolean;
