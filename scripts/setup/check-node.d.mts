export declare function explainNode(version: string, minimum: string): string | null;
export declare function refuseOldNode(): void;
